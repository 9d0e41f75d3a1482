// The examples in the comments of the published packages compile, and say what comes out.
import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { exportsOf, fileNameOf, isComplete, moduleOf, root } from './examples.ts'

const FOLDER = join(root, '.vitest/examples')
const PACKAGES = ['protocol', 'client', 'merchant']

const exported = (
  await Promise.all(
    PACKAGES.map(async (name) => {
      const folder = join(root, 'packages', name)
      const { exports } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
      // `shop` is what the merchant's commands share with create-referrer-shop, and nobody else's.
      const entries = Object.values<string>(exports).filter((entry) => !/\/(generated|shop)\//.test(entry))
      return entries.flatMap((entry) => exportsOf(join(folder, entry)))
    }),
  )
).flat()
const shown = exported.flatMap((one) => (one.example === undefined ? [] : { ...one, example: one.example }))

beforeAll(async () => {
  await rm(FOLDER, { recursive: true, force: true })
  await mkdir(FOLDER, { recursive: true })
  for (const one of shown) await writeFile(join(FOLDER, fileNameOf(one)), moduleOf(one.example))
  const compilerOptions = { noUnusedLocals: false }
  const tsconfig = {
    extends: '../../tsconfig.json',
    compilerOptions,
    include: [],
    files: shown.map(fileNameOf),
  }
  await writeFile(join(FOLDER, 'tsconfig.json'), JSON.stringify(tsconfig))
})

describe('what protocol, client and merchant export', () => {
  it('is found', () => {
    const names = exported.map(({ name }) => name)
    expect(names).toContain('Money.parse')
    expect(names).toContain('X402.Network.Network')
    expect(names).toContain('X402.decodeHeader')
    expect(names).toContain('createReferrerClient')
    expect(names).toContain('readKeystore')
    expect(names).toContain('createReferralEndpoint')
    expect(names).toContain('officialReferral')
  })

  it('has an example on every function and class', () => {
    expect(
      exported.filter(({ isCallable, example }) => isCallable && !example).map(({ name }) => name),
    ).toEqual([])
  })

  it('is used in some example, types and constants too', () => {
    const all = shown.map(({ example }) => example).join('\n')
    const unused = exported.filter(
      ({ name }) => !new RegExp(`\\b${name.replaceAll('.', '\\.')}\\b`).test(all),
    )
    expect(unused.map(({ name }) => name)).toEqual([])
  })
})

describe('the examples', () => {
  it('compile', async () => {
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', FOLDER], {
      cwd: FOLDER,
    }).catch((failure: { stdout: string }) => failure)
    expect(stdout).toBe('')
  }, 120_000)

  it.each(shown.filter(({ example }) => isComplete(example)))(
    '$name gives what its example says',
    async (one) => {
      await import(join(FOLDER, fileNameOf(one)))
    },
  )
})
