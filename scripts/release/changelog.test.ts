import { describe, expect, it } from 'vitest'
import { readChange, sectionOf, withSection } from './changelog.ts'

describe('a changeset', () => {
  it('counts with the largest bump that it names', () => {
    const text = '---\n\'@referrer/signer\': patch\n"@referrer/merchant": minor\n---\n\nSells more.\n'
    expect(readChange(text)).toEqual({ bump: 'minor', summary: 'Sells more.' })
  })

  it('that names no package, or says nothing, is refused', () => {
    for (const text of ['---\n---\n\nwords\n', "---\n'@referrer/signer': patch\n---\n", 'words']) {
      expect(() => readChange(text)).toThrow('this is no changeset')
    }
  })
})

it('the changelog gets a section before the newest version, largest changes first', () => {
  const section = sectionOf('0.2.0', [
    { bump: 'patch', summary: 'Mended.' },
    { bump: 'minor', summary: 'Added.\nIn two lines.' },
  ])
  expect(withSection('# Changelog\n\nWords.\n\n## 0.1.0\n\nFirst.\n', section)).toBe(`# Changelog

Words.

## 0.2.0

### Minor Changes

- Added.
  In two lines.

### Patch Changes

- Mended.

## 0.1.0

First.
`)
})
