import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { ROUTES } from '../src/generated/routes.ts'
import { IDEMPOTENT_POSTS } from '../src/index.ts'
import { type Document, documentOfService, generate, operationsOf } from './generated.ts'

let document: Document

beforeAll(async () => {
  document = await documentOfService()
})

describe('src/generated', () => {
  it('is what the service says of itself; else run `npm run generate -w packages/client`', async () => {
    const made = Object.entries(await generate(document))
    expect(made.map(([name]) => name)).toEqual(['openapi.ts', 'routes.ts'])
    for (const [name, text] of made) {
      // Compared as one line each: a difference is not shown in thousands of lines.
      const committed = await readFile(join(import.meta.dirname, '../src/generated', name), 'utf8')
      expect([name, committed === text]).toEqual([name, true])
    }
  })

  it('has every operation of the document', () => {
    const described = operationsOf(document).map(({ method, path }) => `${method} ${path}`)
    expect(described.length).toBeGreaterThan(50)
    expect(Object.keys(ROUTES)).toEqual(described)
  })

  it('refuses ways to authenticate, and listings, that the client would not know', async () => {
    const changed = structuredClone(document)
    const operation = changed.paths['/v1/review']?.get
    if (!operation) throw new Error('there is no listing of reviews')
    operation.security = [{ password: [] }]
    await expect(generate(changed)).rejects.toThrow('does not know how to authenticate by [{"password":[]}]')
    operation.security = []
    for (const parameter of operation.parameters ?? []) parameter.description = 'As many as you like.'
    await expect(generate(changed)).rejects.toThrow('no listing can be read')
  })
})

it('every POST that is taken for idempotent exists', () => {
  for (const path of IDEMPOTENT_POSTS) expect(Object.keys(ROUTES)).toContain(`POST ${path}`)
})
