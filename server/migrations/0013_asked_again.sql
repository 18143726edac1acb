-- Policy is asked again right before access is given; a refusal then is kept like every other decision.
alter table decision drop constraint decision_question_kind_ck;
alter table decision add constraint decision_question_kind_ck check (question_kind in ('ask', 'approve', 'ask_again'));

-- What a decision said, in the words of the moment: the rules it names may be changed or gone when somebody asks why. Null: from before
-- words were kept.
alter table decision add column reasoning text;
alter table decision add column notices text[] not null default '{}';
