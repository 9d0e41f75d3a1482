// Runs in a thread of its own: makes PNG files of SVG text, one at a time. It takes about 35 ms of CPU for one.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { parentPort } from 'node:worker_threads'
import { Resvg } from '@resvg/resvg-js'

const fonts = join(dirname(createRequire(import.meta.url).resolve('dejavu-fonts-ttf/package.json')), 'ttf')
const font = {
  loadSystemFonts: false,
  fontFiles: ['DejaVuSans.ttf', 'DejaVuSans-Bold.ttf'].map((name) => join(fonts, name)),
  defaultFontFamily: 'DejaVu Sans',
}

parentPort?.on('message', (svg: string) => {
  try {
    const png = new Resvg(svg, { font, logLevel: 'off' }).render().asPng()
    parentPort?.postMessage({ png })
  } catch (error) {
    parentPort?.postMessage({ problem: String(error) })
  }
})
