import { appendFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { COMPILED, CONTRACT_NAMES, readArtifact } from '../deploy/artifacts.ts'
import { outdatedContracts, renderArtifact, writeContracts } from '../deploy/compiled.ts'

const files = new Map(CONTRACT_NAMES.map((name) => [name as string, renderArtifact(readArtifact(name))]))
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'referrer-compiled-'))
  writeContracts(folder, files)
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('the committed form of the compiled contracts', () => {
  it('is read and written without a change', () => {
    expect(outdatedContracts(fileURLToPath(COMPILED), files)).toEqual([])
    expect(outdatedContracts(folder, files)).toEqual([])
  })

  it('names no folder of the machine that compiled it', () => {
    for (const name of CONTRACT_NAMES) {
      const { contractName, sourceName } = readArtifact(name)
      expect(contractName).toBe(name)
      expect(sourceName).toMatch(/^src\/(\w+\/)?\w+\.sol$/)
    }
  })

  it('is outdated where a contract’s code differs by a digit', () => {
    const path = join(folder, 'SplitRouter.json')
    const other = (digit: string) => (digit === '0' ? '1' : '0')
    const planted = readFileSync(path, 'utf8').replace(/(?<="bytecode": "0x\w{100})\w/, other)
    writeFileSync(path, planted)
    expect(outdatedContracts(folder, files)).toEqual(['SplitRouter'])
  })

  it('is outdated where a contract is missing, and where one is left that is no more', () => {
    renameSync(join(folder, 'AddressRegistry.json'), join(folder, 'Removed.json'))
    expect(outdatedContracts(folder, files)).toEqual(['AddressRegistry', 'Removed'])
  })

  it('is outdated where the folder is missing', () => {
    expect(outdatedContracts(join(folder, 'nowhere'), files)).toEqual(CONTRACT_NAMES.toSorted())
  })

  it('is mended by writing it, which removes what is left of others', () => {
    appendFileSync(join(folder, 'SplitRouter.json'), ' ')
    writeFileSync(join(folder, 'Removed.json'), '{}')
    writeContracts(folder, files)
    expect(outdatedContracts(folder, files)).toEqual([])
  })

  it('has no contract that comes near the 24,576 bytes that a chain accepts', () => {
    const bytes = (name: (typeof CONTRACT_NAMES)[number]) =>
      readArtifact(name).deployedBytecode.length / 2 - 1
    expect(CONTRACT_NAMES.filter((name) => bytes(name) > 24_000)).toEqual([])
  })

  it('has no contract that cannot be deployed as it is', () => {
    const abstract = { ...readArtifact('SplitRouter'), bytecode: '0x' as const }
    expect(() => renderArtifact(abstract)).toThrow('SplitRouter cannot be deployed')
    const unlinked = { ...abstract, bytecode: '0x60__$0123456789abcdef$__' as const }
    expect(() => renderArtifact(unlinked)).toThrow('SplitRouter cannot be deployed')
  })
})
