/** A configuration that cannot be used ends the program at its start, with what to correct. */
export function refuse(what: string, expected: string): never {
  throw new TypeError(`@referrer/merchant: ${what} must be ${expected}`)
}
