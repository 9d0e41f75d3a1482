import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { PICTURES } from './discovery-pictures.ts'

it.each(Object.entries(PICTURES))('%s shows what the service computes now', (name, draw) => {
  const committed = readFileSync(new URL(`../docs/pictures/${name}`, import.meta.url), 'utf8')
  expect(committed, 'run: node scripts/run.mjs scripts/discovery-pictures.ts').toBe(draw())
})
