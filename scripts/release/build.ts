// The libraries as they are published, each in its `dist`. The signer builds itself when it is packed.
import { join } from 'node:path'
import { buildLibraries, root } from './packages.ts'

buildLibraries((name) => join(root, 'packages', name, 'dist'))
