// The search thread: searches run here so that they do not block the main thread.
import { parentPort, workerData } from 'node:worker_threads'
import type { Question } from '@referrer/search'
import { errorText } from '../../machinery/workers/errors.ts'
import { createFollowing } from './following.ts'
import type { FromThread, ThreadData, ToThread } from './messages.ts'

const port = parentPort
if (!port) throw new Error('memory-index/thread.ts must run as a worker thread: see client.ts')
const tell = (message: FromThread) => port.postMessage(message)
const stop = new AbortController()

const following = createFollowing({
  ...(workerData as ThreadData),
  onPolled: (polled) => tell({ polled }),
  onFailed: (error) => tell({ failed: errorText(error) }),
})

function answer(find: number, chainId: number, question: Question, isExplained: boolean): void {
  try {
    const { catalogues } = following
    const found = isExplained ? catalogues?.explain(chainId, question) : catalogues?.find(chainId, question)
    tell({ found: find, answer: found })
  } catch (error) {
    tell({ found: find, answer: undefined })
    tell({ failed: errorText(error) })
  }
}

port.on('message', (message: ToThread) => {
  if ('stop' in message) stop.abort(new Error('the service stops'))
  else answer(message.find, message.chainId, message.question, message.isExplained)
})

await following.run(stop.signal)
port.close()
