// What is wrong with the types of a tarball, as JSON: resolutions.ts <tarball>
// A program of its own, because the test runner would import the sources of what it uses.
import { readFileSync } from 'node:fs'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'

export interface Resolutions {
  entrypoints: string[]
  problems: unknown[]
}

const [tarball = ''] = process.argv.slice(2)
const checked = await checkPackage(createPackageFromTarballData(readFileSync(tarball)))
const found: Resolutions = { entrypoints: [], problems: [] }
if (checked.types) {
  found.entrypoints = Object.keys(checked.entrypoints)
  // The packages are modules that are found by `exports`: `require` does not get them, and TypeScript's `node10` finds none of their parts.
  found.problems = checked.problems.filter(
    (problem) =>
      problem.kind !== 'CJSResolvesToESM' &&
      !('resolutionKind' in problem && problem.resolutionKind === 'node10'),
  )
}
process.stdout.write(JSON.stringify(found))
