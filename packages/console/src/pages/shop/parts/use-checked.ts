import { useRef, useState } from 'react'

/** Errors are shown once somebody has tried to go on; the first wrong field gets the focus. */
export function useChecked() {
  const form = useRef<HTMLFormElement>(null)
  const [isShown, setShown] = useState(false)
  return {
    form,
    /** What is wrong with a field, once it is to be told. */
    told: (error: string | undefined) => (isShown ? error : undefined),
    showErrors() {
      setShown(true)
      // The fields know that they are wrong only after the next rendering.
      requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
    },
  }
}
