// Which rules a Solidity test names: the ids in the NatSpec directly above the function.
import { nameRule, ruleNamesIn } from './rule-ids.ts'
import type { Source } from './rule-tests.ts'

export type RuleIdsOf = (file: string, contract: string, test: string) => string[]

interface Contract {
  file: string
  name: string
  isAbstract: boolean
  bases: string[]
  rules: Map<string, string[]>
}

const CONTRACT = /^(?<abstract>abstract\s+)?contract\s+(?<name>\w+)(?:\s+is\s+(?<bases>[^{]+))?\s*\{/
const COMMENTED =
  /(?<comment>(?:^[ \t]*\/\/\/.*\n)+|^[ \t]*\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*)\s*function\s+(?<test>\w+)/
const EITHER = new RegExp(`${CONTRACT.source}|${COMMENTED.source}`, 'gm')

/** Tests that a suite inherits are found in its bases. A `setUp` answers for all tests of its suite. */
export function solidityRules(sources: Source[]): RuleIdsOf {
  const familyOf = families(sources.flatMap(readContracts))
  return (file, contract, test) => {
    const family = familyOf(file, contract)
    if (test === 'setUp') return [...new Set(family.flatMap(({ rules }) => [...rules.values()].flat()))]
    return family.find(({ rules }) => rules.has(test))?.rules.get(test) ?? []
  }
}

/** The suites' files and the names of their tests that name one of these rules. */
export function solidityTestsOf(ids: string[], sources: Source[]): { files: string[]; tests: string[] } {
  const contracts = sources.flatMap(readContracts)
  const familyOf = families(contracts)
  const named = contracts
    .filter(({ isAbstract }) => !isAbstract)
    .flatMap(({ file, name }) =>
      familyOf(file, name).flatMap(({ rules }) => [...rules].map(([test, of]) => ({ file, test, of }))),
    )
    .filter(({ of }) => ids.some((id) => nameRule(of, id)))
  const once = (values: string[]) => [...new Set(values)].sort()
  return { files: once(named.map(({ file }) => file)), tests: once(named.map(({ test }) => test)) }
}

/** A contract and all that it inherits from. */
function families(contracts: Contract[]) {
  const find = (file: string, name: string) =>
    contracts.find((one) => one.file === file && one.name === name) ??
    contracts.find((one) => one.name === name)

  return function familyOf(file: string, name: string): Contract[] {
    const contract = find(file, name)
    if (!contract) return []
    return [contract, ...contract.bases.flatMap((base) => familyOf(contract.file, base))]
  }
}

function readContracts({ file, text }: Source): Contract[] {
  const contracts: Contract[] = []
  for (const { groups = {} } of text.matchAll(EITHER)) {
    const { name, bases, comment, test } = groups
    if (name) {
      const names = (bases ?? '').split(',').map((base) => base.trim().replace(/\(.*$/, ''))
      contracts.push({
        file,
        name,
        isAbstract: groups.abstract !== undefined,
        bases: names.filter(Boolean),
        rules: new Map(),
      })
    } else if (test && comment) {
      contracts.at(-1)?.rules.set(test, ruleNamesIn(comment))
    }
  }
  return contracts
}
