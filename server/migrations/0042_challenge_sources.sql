-- Where a sign-in that waits comes from: an address, or an IPv6 network. Only a few of one source may wait at once. A process of an
-- earlier version leaves it out.
alter table sign_in_challenge add column source text not null default 'unknown';
