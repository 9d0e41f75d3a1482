// The changelog in the form that changesets write: a section for a version, and in it one for each kind of change.
export type Bump = 'major' | 'minor' | 'patch'

export interface Change {
  bump: Bump
  summary: string
}

const KINDS: [Bump, string][] = [
  ['major', 'Major Changes'],
  ['minor', 'Minor Changes'],
  ['patch', 'Patch Changes'],
]
const CHANGESET = /^---\n(?<releases>[\s\S]*?)\n?---\n(?<summary>[\s\S]*)$/

/** A file of `.changeset`: the packages with their bumps, then the text. The largest bump counts. */
export function readChange(text: string): Change {
  const { releases = '', summary = '' } = CHANGESET.exec(text)?.groups ?? {}
  const found = KINDS.find(([bump]) => new RegExp(`: ["']?${bump}["']?\\s*$`, 'm').test(releases))
  if (!found || summary.trim() === '') throw new Error(`this is no changeset:\n${text}`)
  return { bump: found[0], summary: summary.trim() }
}

export function sectionOf(version: string, changes: readonly Change[]): string {
  const parts = KINDS.flatMap(([bump, title]) => {
    const own = changes.filter((change) => change.bump === bump)
    const items = own.map(({ summary }) => `- ${summary.replaceAll('\n', '\n  ')}`)
    return own.length ? [`### ${title}\n\n${items.join('\n')}`] : []
  })
  return [`## ${version}`, ...parts].join('\n\n')
}

/** Newest first: before the first version that is there. */
export function withSection(changelog: string, section: string): string {
  const at = changelog.search(/^## /m)
  if (at === -1) return `${changelog.trimEnd()}\n\n${section}\n`
  return `${changelog.slice(0, at)}${section}\n\n${changelog.slice(at)}`
}
