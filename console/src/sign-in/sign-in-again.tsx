import type { ReactNode } from 'react'
import { Button } from '../parts/button.tsx'
import { Modal } from '../parts/modal.tsx'
import { useWords } from '../words/words.ts'
import { SignIn } from './sign-in.tsx'

type SignInAgainProps = {
  /** Why, where it is not that the session ended. */
  because?: string
  /** Left out where nothing works before the sign-in. */
  close?: () => void
  onSignedIn: () => void
}

/** Over the page, for somebody who must sign in to go on: what they wrote stays behind it. */
export function SignInAgain({ because, close, onSignedIn }: SignInAgainProps): ReactNode {
  const words = useWords()
  return (
    <Modal title={words.signIn.title} {...(close !== undefined && { close })}>
      <SignIn because={because ?? words.signIn.over} onSignedIn={onSignedIn} />
      {close !== undefined && (
        <Button look="quiet" onClick={close}>
          {words.actions.cancel}
        </Button>
      )}
    </Modal>
  )
}
