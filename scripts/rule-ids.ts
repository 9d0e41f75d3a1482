// How a test names the rules it holds.

const NAME = '[A-Z]{2,}-\\d+(?:\\s+otherwise)?'
const BRACKETS = new RegExp(`\\[\\s*${NAME}(?:[\\s,]+${NAME})*\\s*\\]`, 'g')

/**
 * The names in square brackets: `refuses a negative merchant_id [REV-29]`, or several: `[REV-29, REV-30]`. Where we decided otherwise than the
 * rule says (conformance/decisions.tsv), a test of what is done instead says so: `[ERR-03 otherwise]`.
 */
export function ruleNamesIn(text: string): string[] {
  return [...text.matchAll(BRACKETS)].flatMap(([group]) =>
    (group.match(new RegExp(NAME, 'g')) ?? []).map((name) => name.replace(/\s+/, ' ')),
  )
}

/** `ERR-03` of both `ERR-03` and `ERR-03 otherwise`. */
export const idOf = (name: string): string => name.split(' ')[0] ?? ''

export const isOtherwise = (name: string): boolean => name.endsWith(' otherwise')

/** Whether one of these names is of the rule. */
export const nameRule = (names: readonly string[], id: string): boolean =>
  names.some((name) => idOf(name) === id)

export function withoutRuleIds(text: string): string {
  return text.replace(BRACKETS, '')
}
