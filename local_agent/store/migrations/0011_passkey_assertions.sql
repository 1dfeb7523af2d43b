-- What a passkey signed for an approval, as JSON (`common.assertion`); NULL for every other approver.
ALTER TABLE approvals ADD COLUMN assertion BLOB;
