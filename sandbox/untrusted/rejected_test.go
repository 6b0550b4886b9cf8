package untrusted

import "regexp"

var oneExpression = regexp.MustCompile(`(?i)\b(?:ignore|disregard|forget)\W+(?:\w+\W+){0,3}?(?:previous|prior|above)\W+(?:\w+\W+){0,3}?(?:instructions|rules)|\bcurl\b[^\n]*\|\s*(?:sudo\s+)?(?:ba)?sh\b|\b(?:do not|don't|never)\W+tell\W+(?:\w+\W+){0,3}?user\b`)
