import type { ReactNode } from 'react'
import { Empty } from '../parts/list-states.tsx'
import { Page } from '../parts/page.tsx'
import { useWords } from '../words/words.ts'

/** In place of the console, where no browser can sign in. */
export function Insecure(): ReactNode {
  const words = useWords().frame
  return (
    <Page title={words.insecure}>
      <Empty>{words.insecureText}</Empty>
    </Page>
  )
}
