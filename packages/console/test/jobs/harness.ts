// The tests of the pages can fail: each thing that they look for is put into a page here.
import { expect, it } from 'vitest'
import { findings } from '../harness/axe.ts'
import { press, reach } from '../harness/keyboard.ts'
import { layoutOf } from '../harness/layout.ts'
import type { ConsoleMarket } from '../harness/market.ts'
import { traces } from '../harness/traces.ts'

export function harness(market: () => ConsoleMarket): void {
  it('sees a page that is too wide and texts on top of each other', async () => {
    const { page } = await market().visit({ isPhone: true })
    await page.setContent(`<div style="width: 600px">wide</div>
      <p style="position: absolute; top: 200px">one text</p><p style="position: absolute; top: 204px">another text</p>`)
    expect(await layoutOf(page)).toEqual({
      wider: [expect.stringMatching(/^6\d\d px of 390$/), expect.stringContaining('div')],
      overlaps: ['"one text" and "another text"'],
    })
    await page.setContent('<p>one text</p><p>another text</p>')
    expect(await layoutOf(page)).toEqual({ wider: [], overlaps: [] })
  })

  it('sees what markup of strangers leaves', async () => {
    const { page } = await market().visit()
    await page.setContent('<a href="javascript:0">x</a><iframe></iframe><script>window.pwned = 1</script>')
    expect(await traces(page)).toHaveLength(4)
  })

  it('sees what shuts people out', async () => {
    const { page } = await market().visit()
    await page.setContent(
      '<html lang="en"><p style="color: #999; background: #fff">pale</p><button></button>',
    )
    const found = (await findings(page)).map((line) => line.split(':')[0])
    expect(found).toEqual(expect.arrayContaining(['color-contrast', 'button-name']))
  })

  it('refuses what is not done with the keyboard', async () => {
    const { page } = await market().visit()
    await page.setContent('<button>one</button>')
    const button = page.getByRole('button')
    for (const one of [button, button.first(), ...(await button.all())]) {
      for (const act of ['click', 'fill', 'check', 'hover', 'focus', 'press'] as const) {
        expect(() => one[act]).toThrow('not with the keyboard alone')
      }
    }
    expect(() => page.mouse).toThrow('not with the keyboard alone')
  })

  it('sees what a keyboard does not reach, where nobody sees the focus, and when it is lost', async () => {
    const { page } = await market().visit()
    await page.setContent(`<button>one</button><button tabindex="-1">two</button>
      <button onclick="this.remove()">three</button><button style="outline: none">four</button>`)
    const button = (name: string) => page.getByRole('button', { name })
    await expect(reach(page, button('two'))).rejects.toThrow('the keyboard does not reach')
    await expect(reach(page, button('four'))).rejects.toThrow('nobody sees that this has the focus')
    await press(page, button('three'))
    await expect(reach(page, button('one'))).rejects.toThrow('the focus is lost')
  })

  it('sees errors, exceptions, dialogs, other origins and what the policy of our pages forbids', async () => {
    const { page, problems, close } = await market().visit({ isKept: true })
    await page.goto('/')
    await page.evaluate(() => {
      console.error('an error')
      setTimeout(() => {
        throw new Error('an exception')
      })
      document.body.append(Object.assign(document.createElement('script'), { textContent: 'alert(1)' }))
      document.body.append(Object.assign(document.createElement('img'), { src: 'http://evil.example/x.png' }))
      alert('a dialog')
    })
    for (const problem of ['console: an error', 'exception: an exception', 'dialog: a dialog']) {
      await expect.poll(() => problems).toContain(problem)
    }
    await expect.poll(() => problems.filter((one) => /Content Security Policy/.test(one))).toHaveLength(2)
    await page.goto('/nothing/here')
    expect(problems).toContain('answer: 404 /nothing/here')
    await close()
  })
}
