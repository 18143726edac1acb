import type { ReactNode } from 'react'
import { useTitle } from '../parts/page.tsx'
import { useWords } from '../words/words.ts'
import { SignIn } from './sign-in.tsx'

/** The whole window, for somebody who is not signed in. */
export function SignInPage(props: { because?: string | undefined; onSignedIn: () => void }): ReactNode {
  const words = useWords()
  useTitle(words.signIn.title)
  return (
    <main className="grid min-h-dvh place-items-center p-4">
      <div className="grid w-full max-w-[360px] gap-6">
        <header className="grid gap-1">
          <p className="text-body font-semibold text-accent">{words.frame.product}</p>
          <h1 className="text-setup font-semibold">{words.signIn.title}</h1>
        </header>
        <SignIn {...props} />
      </div>
    </main>
  )
}
