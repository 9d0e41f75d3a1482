import { Code } from '../../../ui/parts.tsx'
import { Tabs } from '../../../ui/tabs.tsx'
import { frameworksOf, type ShopValues } from './snippets.ts'

/** The endpoint in each framework, with the shop's own values in it. */
export const CodeSamples = ({ values }: { values: ShopValues }) => (
  <Tabs
    label="Framework"
    tabs={frameworksOf(values).map(({ name, title, install, files }) => ({
      id: name,
      title,
      content: (
        <div className="stack">
          <Code label="command that installs it" text={install} />
          {files.map((file) => (
            <Code key={file.name} label={file.name} text={file.text} />
          ))}
        </div>
      ),
    }))}
  />
)
