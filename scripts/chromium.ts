// Installs a Chromium for the browser tests where there is none and we may. That there is none is not an error: they are left out then.
import { findChromium, installChromium, NO_CHROMIUM } from '../packages/console/test/harness/chromium.ts'

const found = findChromium() ?? (await installChromium())
console.log(found ? `the browser tests use ${found}` : NO_CHROMIUM)
