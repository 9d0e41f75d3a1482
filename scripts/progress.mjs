// A line that ticks: rewritten every second on a terminal, one line every ten seconds in a log.
const TERMINAL_MS = 1_000
const LOG_MS = 10_000

export function progress(label) {
  const started = Date.now()
  const onTerminal = process.stderr.isTTY
  const seconds = () => `${Math.round((Date.now() - started) / 1000)} s`
  const show = (text) => process.stderr.write(onTerminal ? `\r\x1b[K${text}` : `${text}\n`)
  show(`${label} …`)
  const timer = setInterval(() => show(`${label} … ${seconds()}`), onTerminal ? TERMINAL_MS : LOG_MS)
  return (outcome) => {
    clearInterval(timer)
    show(`${label}: ${outcome}, ${seconds()}`)
    if (onTerminal) process.stderr.write('\n')
  }
}
