-- Whether an intent waits for nothing but money of its signer: then it goes as soon as that is there, not when its next trial is due.
ALTER TABLE sender.intents ADD COLUMN lacks_funds boolean NOT NULL DEFAULT false;
