import type { ReactNode } from 'react'
import { Modal } from '../parts/modal.tsx'
import { useWords } from '../words/words.ts'
import { SignIn } from './sign-in.tsx'

/** Over the page, for somebody whose session ended: what they wrote stays behind it. */
export function SignInAgain({ onSignedIn }: { onSignedIn: () => void }): ReactNode {
  const words = useWords().signIn
  return (
    <Modal title={words.title}>
      <SignIn because={words.over} onSignedIn={onSignedIn} />
    </Modal>
  )
}
