// Where the tests of a rule are, told from the sources before anything runs.

export interface Source {
  file: string
  text: string
}

/**
 * The vitest files that may name one of these rules: their text holds the id, or the last report names them, for a title whose id is put
 * together when it runs. Which tests of a file run is up to `titlePattern`.
 */
export function vitestFilesOf(ids: string[], sources: Source[], report: string): string[] {
  const word = new RegExp(`\\b(?:${ids.join('|')})\\b`)
  const rows = report.split('\n').filter((row) => ids.some((id) => row.startsWith(`| ${id} |`)))
  return sources
    .filter(({ file, text }) => word.test(text) || rows.some((row) => row.includes(`\`${file}\``)))
    .map(({ file }) => file)
}

/** Matches the titles, with those of their groups, that name one of these rules in square brackets. */
export const titlePattern = (ids: string[]): string => `\\[[^\\]]*\\b(?:${ids.join('|')})\\b[^\\]]*\\]`
