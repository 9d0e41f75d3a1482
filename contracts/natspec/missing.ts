import type { Declaration } from './declarations.ts'

/** One line for each text that NatSpec should have and has not. */
export function missingTexts(all: Declaration[]): string[] {
  return all.flatMap((one) => {
    const place = `${one.file}: ${one.kind} ${one.kind === 'contract' ? '' : `${one.contract}.`}${one.name}`
    return missingIn(one, all).map((what) => `${place} has no ${what}`)
  })
}

function missingIn(one: Declaration, all: Declaration[]): string[] {
  const { docs } = one
  if (docs.inheritdoc) {
    const isThere = all.some(
      ({ contract, kind, name }) => contract === docs.inheritdoc && kind === one.kind && name === one.name,
    )
    return isThere ? [] : [`text in ${docs.inheritdoc}`]
  }
  const missing = one.parameters
    .filter(({ name }) => !docs.params[name])
    .map(({ name }) => `@param ${name || '(a parameter without a name)'}`)
  one.returns.forEach((name, at) => {
    // A named return value starts with its name.
    const [first, ...rest] = (docs.returns[at] ?? '').split(' ')
    const isThere = name ? first === name && rest.length > 0 : first !== ''
    if (!isThere) missing.push(`@return ${name || at}`)
  })
  if (one.kind === 'error' && !docs.dev) missing.push('@dev that says what the caller does next')
  // A constructor and a private layout need no summary; a contract has its title.
  const needsNotice = ['enum', 'error', 'event', 'function', 'variable'].includes(one.kind)
  if (needsNotice && !docs.notice) missing.push('@notice')
  return missing
}
