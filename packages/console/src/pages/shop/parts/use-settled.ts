import { useEffect, useState } from 'react'

const AFTER_MS = 400

/** A value once it has not changed for a moment: typing does not ask a node for every letter. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), AFTER_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
