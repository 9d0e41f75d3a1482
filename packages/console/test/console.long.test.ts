// Every job of the console but those that console.test.ts has.
import { inTheConsole } from './harness/jobs.ts'
import { afterBuying } from './jobs/after-buying.ts'
import { chatting } from './jobs/chatting.ts'
import { everyPage } from './jobs/every-page.ts'
import { finding } from './jobs/finding.ts'
import { guarding } from './jobs/guarding.ts'
import { harness } from './jobs/harness.ts'
import { hostile } from './jobs/hostile.ts'
import { operating } from './jobs/operating.ts'
import { owning } from './jobs/owning.ts'
import { publishing } from './jobs/publishing.ts'
import { reading } from './jobs/reading.ts'
import { shopKeeping } from './jobs/shop-keeping.ts'

inTheConsole({
  'the harness': harness,
  'who reads': reading,
  'who looks for something': finding,
  'who has bought': afterBuying,
  'whose wallet does not do what it is asked': publishing,
  'who keeps a shop': shopKeeping,
  'who owns an agent': owning,
  'who chats': chatting,
  'who operates the market': operating,
  'who guards the market against rings': guarding,
  'every page': everyPage,
  'the content of strangers': hostile,
})
