import { useState } from 'react'
import { Field, FieldControl } from '../../../ui/field.tsx'
import { CodeSamples } from '../parts/code-samples.tsx'
import { typedUrl } from '../parts/form-text.ts'
import { Readiness } from '../parts/readiness.tsx'
import type { ShopValues } from '../parts/snippets.ts'

interface Props {
  values: ShopValues
  /** Where the market was told that the endpoint is, or what was typed before. */
  url: string
  onUrl: (url: string) => void
}

/** The code to run, then the market's own look at it. */
export function ServingStep({ values, url, onUrl }: Props) {
  const [edited, setEdited] = useState<string>()
  const text = edited ?? url
  const [isAsked, setAsked] = useState(false)
  const typed = typedUrl(text)
  function ask(event: React.FormEvent) {
    event.preventDefault()
    setAsked(true)
    if (typed.value) onUrl(typed.value)
  }
  return (
    <>
      <p>
        Your server answers each request with the price until it is paid. Take the code for your framework:
        your own values are in it.
      </p>
      <CodeSamples values={values} />
      <p className="small soft">
        The server key is optional where the market does not ask for one. You make one under “Server keys” of
        your shop.
      </p>
      <form className="form" noValidate onSubmit={ask}>
        <Field
          label="Where buyers reach it"
          error={isAsked ? typed.error : undefined}
          help="The whole address, with its path."
        >
          <FieldControl
            type="url"
            value={text}
            onChange={(event) => setEdited(event.target.value)}
            placeholder="https://shop.example/buy"
          />
        </Field>
        <div>
          <button type="submit" className="button button-main">
            Check the endpoint
          </button>
        </div>
      </form>
      <Readiness resource={url || undefined} />
    </>
  )
}
