/** The JSON of an answer, undefined where it is none. Throws where it does not arrive or does not end. */
export async function readJson(response: Response, maxBytes: number): Promise<unknown> {
  const text = await readText(response, maxBytes)
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let length = 0
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
    if (done) return text + decoder.decode()
    length += value.length
    if (length > maxBytes) {
      await reader?.cancel()
      throw new Error(`the answer exceeds ${maxBytes} bytes`)
    }
    text += decoder.decode(value, { stream: true })
  }
}
