import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { describe, expect, it } from 'vitest'

/** The entry as a program for browsers, with all that it imports; what could not be found there stays an import. */
async function bundled(entry: string) {
  const bundle = await rolldown({
    input: join(import.meta.dirname, '../src', entry),
    platform: 'browser',
    logLevel: 'silent',
  })
  const { output } = await bundle.generate({ format: 'esm' })
  await bundle.close()
  return output
}

describe('in a browser', () => {
  it.each(['index.ts', 'chain/index.ts'])('%s needs nothing of Node', async (entry) => {
    const chunks = (await bundled(entry)).filter((one) => one.type === 'chunk')
    const files = new Set(chunks.map(({ fileName }) => fileName))
    const missing = chunks.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports])
    expect(missing.filter((name) => !files.has(name))).toEqual([])
    expect(chunks.flatMap(({ code }) => code.match(/\bBuffer\.|require\("/g) ?? [])).toEqual([])
  })

  it('a keystore would, and is an entry of its own', async () => {
    const chunks = (await bundled('keystore.ts')).filter((one) => one.type === 'chunk')
    expect(chunks.flatMap(({ imports }) => imports)).toContain('node:fs')
  })
})
