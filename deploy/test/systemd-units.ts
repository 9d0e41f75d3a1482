// Reads unit files: sections with directives, of which many may be repeated.
export type Unit = Record<string, [directive: string, value: string][]>

export function parseUnit(text: string): Unit {
  const unit: Unit = {}
  let section: [string, string][] | undefined
  for (const line of text.split('\n')) {
    if (/^\s*([#;]|$)/.test(line)) continue
    const name = /^\[(\w+)\]$/.exec(line)?.[1]
    if (name) section = unit[name] ??= []
    else {
      const [, directive, value = ''] = /^(\w+)=(.*)$/.exec(line) ?? []
      if (!directive || !section) throw new Error(`not a line of a unit: ${line}`)
      section.push([directive, value])
    }
  }
  return unit
}

/** The values of a directive, in their order. */
export const valuesOf = (unit: Unit, section: string, name: string): string[] =>
  (unit[section] ?? []).filter(([directive]) => directive === name).map(([, value]) => value)

/** What `Environment=` sets. */
export const environmentOf = (unit: Unit): Record<string, string> =>
  Object.fromEntries(
    valuesOf(unit, 'Service', 'Environment')
      .flatMap((value) => value.split(/\s+/))
      .map((pair) => {
        const at = pair.indexOf('=')
        return [pair.slice(0, at), pair.slice(at + 1)]
      }),
  )
