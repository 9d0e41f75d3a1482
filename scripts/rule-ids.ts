// How a test names the rules it holds.

const BRACKETS = /\[\s*[A-Z]{2,}-\d+(?:[\s,]+[A-Z]{2,}-\d+)*\s*\]/g

/** The ids in square brackets: `refuses a negative merchant_id [REV-29]`, or several: `[REV-29, REV-30]`. */
export function ruleIdsIn(text: string): string[] {
  return [...text.matchAll(BRACKETS)].flatMap(([group]) => group.match(/[A-Z]+-\d+/g) ?? [])
}

export function withoutRuleIds(text: string): string {
  return text.replace(BRACKETS, '')
}
