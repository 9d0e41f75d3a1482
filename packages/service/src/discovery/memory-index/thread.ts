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

function answer(find: number, chainId: number, question: Question, embedderId: string | undefined): void {
  try {
    tell({ found: find, hits: following.find(chainId, question, embedderId) })
  } catch (error) {
    tell({ found: find, hits: undefined })
    tell({ failed: errorText(error) })
  }
}

port.on('message', (message: ToThread) => {
  if ('stop' in message) stop.abort(new Error('the service stops'))
  else answer(message.find, message.chainId, message.question, message.embedderId)
})

await following.run(stop.signal)
port.close()
