import { Worker } from 'node:worker_threads'

export interface Painter {
  /** A PNG of SVG text. Throws `PainterBusy` while too many wait, and when this picture took too long. */
  paint(svg: string): Promise<Buffer>
  close(): Promise<void>
}

export interface PainterOptions {
  mostWaiting: number
  /** How long one picture may take, without its wait for others. */
  timeoutMs?: number
  /** The file that paints. */
  thread?: URL
}

export class PainterBusy extends Error {
  override readonly name = 'PainterBusy'
}

interface Job {
  svg: string
  resolve(png: Buffer): void
  reject(error: Error): void
}
type Answer = { png: Uint8Array } | { problem: string }

/** Paints in a thread that is started with the first picture, so that nobody else waits while it paints. The thread has one picture at a time. */
export function openPainter({
  mostWaiting,
  timeoutMs = 10_000,
  thread = new URL('./paint.ts', import.meta.url),
}: PainterOptions): Painter {
  const waiting: Job[] = []
  let worker: Worker | undefined
  let painting: { job: Job; timer: NodeJS.Timeout } | undefined

  function next(): void {
    if (painting) return
    const job = waiting.shift()
    if (!job) return
    worker ??= start()
    const late = new PainterBusy(`a picture took longer than ${timeoutMs} ms`)
    painting = { job, timer: setTimeout(() => end(late), timeoutMs) }
    worker.postMessage(job.svg)
  }

  function start(): Worker {
    const started = new Worker(thread)
    started.unref()
    started.on('message', (answer: Answer) => {
      if (worker !== started) return
      const job = finished()
      if ('png' in answer) job?.resolve(Buffer.from(answer.png))
      else job?.reject(new Error(`the picture cannot be painted: ${answer.problem}`))
      next()
    })
    started.on('error', (error) => worker === started && end(error))
    started.on('exit', () => worker === started && end(new Error('the painting thread has ended')))
    return started
  }

  function finished(): Job | undefined {
    const job = painting?.job
    clearTimeout(painting?.timer)
    painting = undefined
    return job
  }

  /** Fails the picture that is being painted, and no other: the next one gets a new thread. */
  async function end(error: Error): Promise<void> {
    const ended = worker?.terminate()
    worker = undefined
    finished()?.reject(error)
    next()
    await ended
  }

  return {
    paint(svg) {
      if (waiting.length >= mostWaiting) throw new PainterBusy('too many pictures are asked for at once')
      return new Promise((resolve, reject) => {
        waiting.push({ svg, resolve, reject })
        next()
      })
    },
    async close() {
      const closed = new Error('the painter is closed')
      for (const job of waiting.splice(0)) job.reject(closed)
      await end(closed)
    },
  }
}
