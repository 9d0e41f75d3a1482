// The first things that people do in a browser. What else they do is in console.long.test.ts.
import { inTheConsole } from './harness/jobs.ts'
import { buying } from './jobs/buying.ts'
import { signingIn } from './jobs/signing-in.ts'

inTheConsole({ 'who signs in': signingIn, 'who buys': buying })
