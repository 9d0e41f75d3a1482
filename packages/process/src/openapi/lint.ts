// What two linters that others judge documents with say about ours.
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { type RulesetDefinition, Spectral } from '@stoplight/spectral-core'
import { oas } from '@stoplight/spectral-rulesets'

/** Rules that do not hold here, and why. */
const OFF = {
  // Whoever runs a program is its contact; the document is the same for all of them.
  'info-contact': 'off',
  // A summary that says everything needs no description beside it.
  'operation-description': 'off',
} as const
/** These are never turned away: the machines that watch over a program ask for them without a key and without a limit. */
const NEVER_REFUSED = /^redocly operation-4xx-response at #\/paths\/~1(healthz|readyz|metrics)\//

/** Every error and warning of Redocly's recommended rules and Spectral's rules for OpenAPI. */
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
