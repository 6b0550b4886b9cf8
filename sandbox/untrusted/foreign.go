package untrusted

import (
	"strings"
	"unicode/utf8"
)

// order to drop what was said, in scripts that do not fold into Latin letters: a word
// for leaving aside and one for what is left aside, within reach of each other. In some
// languages the second comes first.
var foreignOrders = []struct {
	verbs, objects []string
	reversed       bool // objects stand before verbs
}{
	// Russian, Ukrainian, Bulgarian
	{[]string{"игнорируй", "Игнорируй", "игнорируйте", "Игнорируйте", "забудь", "Забудь", "забудьте", "Забудьте", "проигнорируй", "Проигнорируй", "отбрось", "Отбрось", "Не следуй", "не следуй", "Не обращай внимания", "не обращай внимания", "Не обращайте внимания", "не обращайте внимания",
		"ігноруй", "Ігноруй", "ігноруйте", "Ігноруйте", "забудьте", "Забудьте", "игнорирай", "Игнорирай", "забрави", "Забрави"},
		[]string{"инструкц", "указани", "правил", "команд", "все, что", "всё, что", "сказанное", "предыдущ", "інструкц", "вказівк", "попередн", "інструкції", "предишн"}, false},
	// Chinese
	{[]string{"忽略", "无视", "無視", "忘记", "忘記", "忘掉", "抛弃", "不要遵守", "不要遵循", "别管", "不理会"},
		[]string{"指令", "指示", "说明", "說明", "规则", "規則", "提示", "命令", "要求", "内容", "設定", "设定", "之前", "以上", "上面"}, false},
	// Japanese
	{[]string{"無視", "忘れ", "破棄", "従わない"}, []string{"指示", "命令", "プロンプト", "ルール", "指令", "これまで", "以前の", "上記"}, true},
	// Korean
	{[]string{"무시", "잊어", "잊으", "따르지"}, []string{"지시", "명령", "지침", "규칙", "프롬프트", "이전", "앞의"}, true},
	// Arabic, Persian
	{[]string{"تجاهل", "انس ", "انسَ", "نادیده", "فراموش"}, []string{"التعليمات", "تعليمات", "الأوامر", "القواعد", "التوجيهات", "السابقة", "دستور", "قوانین"}, false},
	{[]string{"نادیده", "فراموش"}, []string{"دستور", "قوانین", "قبلی"}, true},
	// Hebrew
	{[]string{"התעלם", "התעלמי", "התעלמו", "תתעלם", "שכח"}, []string{"הוראות", "ההוראות", "מההוראות", "ההנחיות", "הקודמות", "הכללים"}, false},
	// Greek
	{[]string{"Αγνόησε", "αγνόησε", "Αγνοήστε", "αγνοήστε", "Ξέχασε", "ξέχασε", "Ξεχάστε"}, []string{"οδηγίες", "εντολές", "κανόνες", "προηγούμεν"}, false},
	// Hindi, Bengali
	{[]string{"अनदेखा", "नज़रअंदाज़", "नजरअंदाज", "भूल", "उपेक्षा"}, []string{"निर्देश", "आदेश", "नियम", "पिछल"}, true},
	{[]string{"উপেক্ষা", "ভুলে"}, []string{"নির্দেশ", "আদেশ", "নিয়ম"}, true},
	// Thai
	{[]string{"ละเว้น", "เพิกเฉย", "ไม่ต้องสนใจ", "ลืม"}, []string{"คำสั่ง", "คำแนะนำ", "ก่อนหน้า", "กฎ"}, false},
	// Vietnamese, where the letters carry their tones
	{[]string{"Bỏ qua", "bỏ qua", "Phớt lờ", "phớt lờ", "Quên", "quên"}, []string{"hướng dẫn", "chỉ dẫn", "chỉ thị", "mệnh lệnh", "quy tắc"}, false},
}

// foreignReach is how many bytes lie between the two words at most.
const foreignReach = 90

type foreignVerb struct {
	text string
	row  int
}

// foreignVerbs holds the verbs by their first character.
var foreignVerbs = func() map[rune][]foreignVerb {
	m := map[rune][]foreignVerb{}
	for i, o := range foreignOrders {
		for _, v := range o.verbs {
			r, _ := utf8.DecodeRuneInString(v)
			m[r] = append(m[r], foreignVerb{v, i})
		}
	}
	return m
}()

// foreignFirst is a sieve for the first characters, by their low eight bits.
var foreignFirst = func() (b [256]bool) {
	for r := range foreignVerbs {
		b[r&255] = true
	}
	return b
}()

func scanForeign(s string, hits []Hit) []Hit {
	last := 0
	for i, r := range s {
		if r < 0x370 && r != 'B' && r != 'b' && r != 'P' && r != 'p' && r != 'Q' && r != 'q' || !foreignFirst[r&255] || i < last {
			continue
		}
		for _, v := range foreignVerbs[r] {
			if !strings.HasPrefix(s[i:], v.text) {
				continue
			}
			end := i + len(v.text)
			o := &foreignOrders[v.row]
			window, at := s[end:min(len(s), end+foreignReach)], end
			if o.reversed {
				at = max(0, i-foreignReach)
				window = s[at:i]
			}
			if from, to, ok := within(window, o.objects, o.reversed); ok {
				h := Hit{table[override], min(i, at+from), max(end, at+to)}
				hits = append(hits, h)
				last = h.End
				break
			}
		}
	}
	return hits
}

// within finds one of the words in a window, in the sentence next to the verb.
func within(window string, words []string, reversed bool) (from, to int, ok bool) {
	lo, hi := 0, len(window)
	if reversed {
		lo = strings.LastIndexAny(window, "\n.。!！?？") + 1
	} else if n := strings.IndexAny(window, "\n.。!！?？"); n >= 0 {
		hi = n
	}
	for _, w := range words {
		if n := strings.Index(window[lo:hi], w); n >= 0 {
			return lo + n, lo + n + len(w), true
		}
	}
	return 0, 0, false
}
