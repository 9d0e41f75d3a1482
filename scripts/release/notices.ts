// The bundle holds other people's code, and their licences ask to be shipped with it.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'rolldown'

const FILE = 'THIRD_PARTY_NOTICES.txt'
const MODULES = '/node_modules/'
const LICENCE = /^(?:licen[cs]e|copying|notice)(?:[.-]|$)/i

/** The folders of the packages that these modules belong to; the product's own modules are left out. */
export function packageFolders(moduleIds: Iterable<string>): string[] {
  const folders = new Set<string>()
  for (const id of moduleIds) {
    const at = id.lastIndexOf(MODULES)
    if (at === -1) continue
    const start = at + MODULES.length
    const [first = '', second = ''] = id.slice(start).split('/')
    folders.add(id.slice(0, start) + (first.startsWith('@') ? `${first}/${second}` : first))
  }
  return [...folders]
}

function noticeOf(folder: string): string {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const texts = readdirSync(folder)
    .filter((file) => LICENCE.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8').trim())
  if (!license && texts.length === 0) throw new Error(`${folder} names no licence: do not bundle ${name}`)
  const by = typeof author === 'string' ? author : author?.name
  const facts = [`${name} ${version}`, `licence: ${license ?? 'see below'}`, ...(by ? [`by ${by}`] : [])]
  return [...facts, '', ...texts].join('\n').trim()
}

/** Writes the licences of all packages that the bundle contains beside it. */
export const notices = (): Plugin => ({
  name: 'third-party-notices',
  generateBundle(_options, bundle) {
    const ids = Object.values(bundle).flatMap((output) => (output.type === 'chunk' ? output.moduleIds : []))
    // Several copies of one version say the same.
    const parts = [...new Set(packageFolders(ids).map(noticeOf))].sort()
    const intro = 'This package contains code of the packages below, each under its own licence.'
    this.emitFile({
      type: 'asset',
      fileName: FILE,
      source: `${[intro, ...parts].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`,
    })
  },
})
