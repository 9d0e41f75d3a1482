// npm run version-packages: the changesets become a section of CHANGELOG.md, and everything gets the next version.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Change, readChange, sectionOf, withSection } from './changelog.ts'

const root = join(import.meta.dirname, '../..')
const folder = join(root, '.changeset')
/** These name the version too, and changesets does not know them. */
const FOLLOWERS = ['package.json', 'server.json', 'packages/signer/server.json']

const changes: Change[] = readdirSync(folder)
  .filter((name) => name.endsWith('.md') && name !== 'README.md')
  .sort()
  .map((name) => readChange(readFileSync(join(folder, name), 'utf8')))
if (changes.length === 0) throw new Error('there is no changeset: write one with `npx changeset`')

const versionNow = (): string =>
  JSON.parse(readFileSync(join(root, 'packages/protocol/package.json'), 'utf8')).version
const before = versionNow()
execFileSync(process.execPath, [join(root, 'node_modules/@changesets/cli/bin.js'), 'version'], {
  cwd: root,
  stdio: 'inherit',
})
const version = versionNow()
for (const name of FOLLOWERS) {
  const path = join(root, name)
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, text.replaceAll(`"version": "${before}"`, `"version": "${version}"`))
}
const changelog = join(root, 'CHANGELOG.md')
writeFileSync(changelog, withSection(readFileSync(changelog, 'utf8'), sectionOf(version, changes)))
execFileSync('npm', ['install', '--package-lock-only', '--ignore-scripts'], { cwd: root, stdio: 'inherit' })
