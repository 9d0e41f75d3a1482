import { Worker } from 'node:worker_threads'

export interface Painter {
  /** A PNG of SVG text. Throws `PainterBusy` while too many wait. */
  paint(svg: string): Promise<Buffer>
  close(): Promise<void>
}

export class PainterBusy extends Error {
  override readonly name = 'PainterBusy'
}

const PAINT_TIMEOUT_MS = 10_000

interface Job {
  resolve(png: Buffer): void
  reject(error: Error): void
}
type Message = { id: number; png: Uint8Array } | { id: number; problem: string }

/** Paints in a thread that is started with the first picture, so that nobody else waits while it paints. */
export function openPainter({ mostWaiting }: { mostWaiting: number }): Painter {
  const jobs = new Map<number, Job>()
  let worker: Worker | undefined
  let lastId = 0

  function started(): Worker {
    if (worker) return worker
    const thread = new Worker(new URL('./paint.ts', import.meta.url))
    thread.unref()
    thread.on('message', (message: Message) => {
      const job = jobs.get(message.id)
      jobs.delete(message.id)
      if ('png' in message) job?.resolve(Buffer.from(message.png))
      else job?.reject(new Error(`the picture cannot be painted: ${message.problem}`))
    })
    thread.on('error', (error) => end(thread, error))
    thread.on('exit', () => end(thread, new Error('the painting thread has ended')))
    worker = thread
    return thread
  }

  /** The next picture gets a new thread. */
  function end(thread: Worker, error: Error): void {
    if (worker !== thread) return
    worker = undefined
    for (const job of jobs.values()) job.reject(error)
    jobs.clear()
  }

  return {
    paint(svg) {
      if (jobs.size >= mostWaiting) throw new PainterBusy('too many pictures are asked for at once')
      const thread = started()
      const id = ++lastId
      return new Promise<Buffer>((resolve, reject) => {
        const timer = setTimeout(() => {
          end(thread, new Error(`a picture took longer than ${PAINT_TIMEOUT_MS} ms`))
          void thread.terminate()
        }, PAINT_TIMEOUT_MS)
        const settle =
          <T>(settled: (value: T) => void) =>
          (value: T) => {
            clearTimeout(timer)
            settled(value)
          }
        jobs.set(id, { resolve: settle(resolve), reject: settle(reject) })
        thread.postMessage({ id, svg })
      })
    },
    async close() {
      await worker?.terminate()
    },
  }
}
