package redos

import (
	"errors"
	"sort"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2/syntax"
)

// Reasons of a SyntaxError. The engine's own texts quote the pattern; these never do.
const (
	reasonTooLong     = "it is longer than 4,096 bytes"
	reasonEncoding    = "it is not valid UTF-8"
	reasonWide        = "its character classes are too wide to ignore case in"
	reasonParenOpen   = "this group has no closing parenthesis"
	reasonParenClose  = "this closing parenthesis has no opening one"
	reasonBracket     = "this character class has no closing bracket"
	reasonQuantifier  = "there is nothing here to repeat"
	reasonDouble      = "a repeat cannot itself be repeated"
	reasonCount       = "the repeat count is not valid"
	reasonMany        = "it repeats a part too often"
	reasonRange       = "the range in this character class is not valid"
	reasonReversed    = "the range in this character class runs backwards"
	reasonGroup       = "this kind of group is not known"
	reasonName        = "the group name is not valid"
	reasonReference   = "it refers to a group that does not exist"
	reasonEscapeEnd   = "it ends in a single backslash"
	reasonEscape      = "this escape is not known"
	reasonProperty    = "this Unicode class is not known"
	reasonHex         = "the character code is not valid"
	reasonConditional = "the condition is not valid"
	reasonComment     = "this comment has no end"
	reasonOther       = "it is not a valid regular expression"
)

var reasons = map[syntax.ErrorCode]string{
	syntax.ErrUnterminatedComment:        reasonComment,
	syntax.ErrInvalidCharRange:           reasonRange,
	syntax.ErrInvalidRepeatSize:          reasonCount,
	syntax.ErrInvalidUTF8:                reasonEncoding,
	syntax.ErrCaptureGroupOutOfRange:     reasonCount,
	syntax.ErrUnexpectedParen:            reasonParenClose,
	syntax.ErrMissingParen:               reasonParenOpen,
	syntax.ErrMissingBrace:               reasonHex,
	syntax.ErrInvalidRepeatOp:            reasonDouble,
	syntax.ErrMissingRepeatArgument:      reasonQuantifier,
	syntax.ErrQuantifiedAssertion:        reasonQuantifier,
	syntax.ErrConditionalExpression:      reasonConditional,
	syntax.ErrTooManyAlternates:          reasonConditional,
	syntax.ErrUnrecognizedGrouping:       reasonGroup,
	syntax.ErrInvalidGroupName:           reasonName,
	syntax.ErrInvalidECMAGroupName:       reasonName,
	syntax.ErrDuplicateGroupName:         reasonName,
	syntax.ErrCapNumNotZero:              reasonName,
	syntax.ErrUndefinedBackRef:           reasonReference,
	syntax.ErrUndefinedNameRef:           reasonReference,
	syntax.ErrAlternationCantCapture:     reasonConditional,
	syntax.ErrAlternationCantHaveComment: reasonConditional,
	syntax.ErrMalformedReference:         reasonConditional,
	syntax.ErrUndefinedReference:         reasonReference,
	syntax.ErrIllegalEndEscape:           reasonEscapeEnd,
	syntax.ErrMalformedSlashP:            reasonProperty,
	syntax.ErrIncompleteSlashP:           reasonProperty,
	syntax.ErrUnknownSlashP:              reasonProperty,
	syntax.ErrUnrecognizedEscape:         reasonEscape,
	syntax.ErrMissingControl:             reasonEscape,
	syntax.ErrUnrecognizedControl:        reasonEscape,
	syntax.ErrTooFewHex:                  reasonHex,
	syntax.ErrInvalidHex:                 reasonHex,
	syntax.ErrMalformedNameRef:           reasonReference,
	syntax.ErrBadClassInCharRange:        reasonRange,
	syntax.ErrShorthandClassInCharRange:  reasonRange,
	syntax.ErrUnterminatedBracket:        reasonBracket,
	syntax.ErrSubtractionMustBeLast:      reasonRange,
	syntax.ErrReversedCharRange:          reasonReversed,
}

func code(err error) syntax.ErrorCode {
	var e *syntax.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// syntaxError puts the engine's error into our words and finds where it shows: the parser reads from left to right, so
// that is the end of the shortest prefix with the same error. What is left open shows where it was opened.
func syntaxError(pattern string, opts syntax.RegexOptions, err error) *SyntaxError {
	c := code(err)
	reason, ok := reasons[c]
	if !ok {
		return &SyntaxError{Position: 1, Reason: reasonOther}
	}
	switch c {
	case syntax.ErrMissingParen, syntax.ErrUnterminatedBracket, syntax.ErrUnterminatedComment:
		return &SyntaxError{Position: openAt(pattern), Reason: reason}
	}
	rs := []rune(pattern)
	n := sort.Search(len(rs), func(k int) bool {
		_, err := parse(string(rs[:k]), opts)
		return err != nil && code(err) == c
	})
	return &SyntaxError{Position: max(1, min(n, utf8.RuneCountInString(pattern))), Reason: reason}
}
