import type { ReactNode } from 'react'

/** Links between which one chooses; the address says which one is chosen, so it works without JavaScript. */
export const Choices = ({ label, children }: { label: string; children: ReactNode }) => (
  <nav className="choices" aria-label={label}>
    {children}
  </nav>
)
