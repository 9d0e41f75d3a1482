// A thread that never ends a picture that is called `endless`.
import { parentPort } from 'node:worker_threads'

parentPort?.on('message', (svg: string) => {
  if (svg !== 'endless') parentPort?.postMessage({ png: Buffer.from(svg) })
})
