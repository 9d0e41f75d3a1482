// Checks an OpenAPI document with two common linters.
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { type RulesetDefinition, Spectral } from '@stoplight/spectral-core'
import { oas } from '@stoplight/spectral-rulesets'

/** Rules that are disabled, and why. */
const OFF = {
  // The contact would be the operator, and the document is the same for all operators.
  'info-contact': 'off',
  // A clear summary needs no description besides it.
  'operation-description': 'off',
} as const
/** Routes without a 4xx answer: monitoring calls them without credentials and without a rate limit. */
const NEVER_REFUSED = /^redocly operation-4xx-response at #\/paths\/~1(healthz|readyz|metrics)\//

/** All errors and warnings of Redocly's recommended rules and Spectral's OpenAPI rules. */
export async function lintDocument(document: object): Promise<string[]> {
  const problems = [...(await redocly(document)), ...(await spectral(document))]
  return problems.filter((problem) => !NEVER_REFUSED.test(problem))
}

async function redocly(document: object): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source: JSON.stringify(document), config })
  return problems.map(
    ({ ruleId, message, location }) => `redocly ${ruleId} at ${location[0]?.pointer}: ${message}`,
  )
}

async function spectral(document: object): Promise<string[]> {
  const linter = new Spectral()
  linter.setRuleset({ extends: [oas as RulesetDefinition], rules: OFF })
  const problems = await linter.run(structuredClone(document) as Record<string, unknown>)
  return problems.map(({ code, message, path }) => `spectral ${code} at ${path.join('/')}: ${message}`)
}
