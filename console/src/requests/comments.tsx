import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useMe } from '../me/me.ts'
import { useAct } from '../parts/act.ts'
import { Button } from '../parts/button.tsx'
import { useDraft } from '../parts/draft.ts'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { LoadFailure } from '../parts/list-states.tsx'
import { Section } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import { Moment } from '../time/moment.tsx'
import { useWords } from '../words/words.ts'
import { commentsQuery, sendComment } from './queries.ts'
import type { RequestDetail } from './request.ts'

/** Questions and answers about a request while it waits. */
export function Comments({ request }: { request: RequestDetail }): ReactNode {
  const { detail } = useWords().requests
  const me = useMe()
  const { data, error, refetch } = useQuery({ ...commentsQuery(request.id), enabled: request.comment_count > 0 })
  const mayComment = request.status === 'pending' && (request.may_decide || request.requester_id === me.id)
  const comments = data?.data ?? []
  const hasFailed = data === undefined && error !== null
  if (!mayComment && comments.length === 0 && !hasFailed) return null
  return (
    <Section title={detail.comments}>
      {hasFailed && <LoadFailure error={error} retry={refetch} />}
      {comments.length > 0 && (
        <ol className="grid gap-3">
          {comments.map(({ id, author_name, text, created_at }) => (
            <li key={id} className="grid gap-1">
              <p className="text-meta text-text-2">
                <bdi className="font-medium text-text">{author_name}</bdi> · <Moment at={created_at} />
              </p>
              <p dir="auto" className="sound-width whitespace-pre-line wrap-anywhere">
                {text}
              </p>
            </li>
          ))}
        </ol>
      )}
      {mayComment && <CommentForm id={request.id} />}
    </Section>
  )
}

function CommentForm({ id }: { id: string }): ReactNode {
  const { detail } = useWords().requests
  const queries = useQueryClient()
  const [text, setText, clear] = useDraft(`comment:${id}`)
  const act = useAct()
  const send = async () => {
    if (text.trim() === '') return
    await act.run(async (key) => {
      await sendComment(id, text.trim(), key)
      clear()
      await queries.invalidateQueries({ queryKey: ['comment', id] })
      await queries.invalidateQueries({ queryKey: ['request', id] })
    }, text.trim())
  }
  return (
    <Form className="grid gap-2" submit={send}>
      <Field label={detail.addComment} hint={detail.commentHint} lines={2} value={text} onChange={setText} />
      {act.error !== undefined && <Problem error={act.error} />}
      <Button type="submit" className="justify-self-start" isPending={act.isPending} disabled={text.trim() === ''}>
        {detail.sendComment}
      </Button>
    </Form>
  )
}
