import { Tabs as Base } from '@base-ui/react/tabs'
import type { ReactNode } from 'react'

export interface Tab {
  id: string
  title: ReactNode
  content: ReactNode
}

interface Props {
  /** What the tabs choose between, for people who cannot see them. */
  label: string
  tabs: Tab[]
  /** The one that is open at first. */
  first?: string
  onChange?: (id: string) => void
}

/** One of several things at a time; arrow keys go from tab to tab. */
export const Tabs = ({ label, tabs, first = tabs[0]?.id ?? '', onChange }: Props) => (
  <Base.Root defaultValue={first} onValueChange={(value) => onChange?.(String(value))}>
    <Base.List className="tabs" aria-label={label}>
      {tabs.map(({ id, title }) => (
        <Base.Tab key={id} value={id} className="tab">
          {title}
        </Base.Tab>
      ))}
    </Base.List>
    {tabs.map(({ id, content }) => (
      <Base.Panel key={id} value={id} className="tab-panel">
        {content}
      </Base.Panel>
    ))}
  </Base.Root>
)
