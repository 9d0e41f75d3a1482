import { createContext, type ReactNode, use, useEffect, useState } from 'react'

const Now = createContext(0)
const EVERY_MS = 10_000

/** The current time, in steps of ten seconds: what tells how long ago something was stays true while the page is open. */
export function NowProvider({ renderedAt, children }: { renderedAt: number; children: ReactNode }) {
  const [now, setNow] = useState(renderedAt)
  useEffect(() => {
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  return <Now value={now}>{children}</Now>
}

export const useNow = (): number => use(Now)
