// The search thread: searches run here so that they do not block the main thread.
import { parentPort, workerData } from 'node:worker_threads'
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

type Find = Exclude<ToThread, { stop: true }>

function answer({ find, chainId, question, embedderId, isExplained }: Find): void {
  try {
    const catalogues = following.cataloguesOf(embedderId)
    // Vectors of two models cannot be compared, even if they have the same length.
    const isFit = catalogues?.model.embedderId === embedderId
    const asked = isFit ? question : { ...question, vector: undefined }
    const found = isExplained ? catalogues?.explain(chainId, asked) : catalogues?.find(chainId, asked)
    tell({ found: find, answer: found })
  } catch (error) {
    tell({ found: find, answer: undefined })
    tell({ failed: errorText(error) })
  }
}

port.on('message', (message: ToThread) => {
  if ('stop' in message) stop.abort(new Error('the service stops'))
  else answer(message)
})

await following.run(stop.signal)
port.close()
