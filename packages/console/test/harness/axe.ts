// axe-core in the page. The policy of our pages forbids script elements, so its source is evaluated.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults, RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const BAD = new Set(['serious', 'critical'])

/** Serious and critical findings, one line each, in the theme that the page has now. */
export async function findings(page: Page, rules?: string[]): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(SOURCE)
  const options: RunOptions = {
    resultTypes: ['violations'],
    ...(rules && { runOnly: { type: 'rule', values: rules } }),
  }
  const { violations } = await page.evaluate(
    (given) => (globalThis as unknown as { axe: { run(o: object): Promise<AxeResults> } }).axe.run(given),
    options,
  )
  return violations
    .filter(({ impact }) => impact && BAD.has(impact))
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target}: ${failureSummary}`),
    )
}
