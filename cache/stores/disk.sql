CREATE TABLE IF NOT EXISTS answer (
    key BLOB PRIMARY KEY,
    record BLOB NOT NULL,
    created REAL NOT NULL,
    expires REAL NOT NULL,
    bytes INTEGER NOT NULL,
    nanos INTEGER NOT NULL,
    hits INTEGER NOT NULL DEFAULT 1,
    priority REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS answer_expires ON answer (expires);
CREATE INDEX IF NOT EXISTS answer_priority ON answer (priority);
CREATE TABLE IF NOT EXISTS tag (
    tag TEXT NOT NULL,
    key BLOB NOT NULL,
    PRIMARY KEY (tag, key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS tag_key ON tag (key);
CREATE TABLE IF NOT EXISTS purged (
    tag TEXT PRIMARY KEY,
    before REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS total (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    entries INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    clock REAL NOT NULL
);
INSERT OR IGNORE INTO total VALUES (1, 0, 0, 0);
CREATE TRIGGER IF NOT EXISTS answer_in AFTER INSERT ON answer BEGIN
    UPDATE total SET entries = entries + 1, bytes = bytes + NEW.bytes;
END;
CREATE TRIGGER IF NOT EXISTS answer_out AFTER DELETE ON answer BEGIN
    UPDATE total SET entries = entries - 1, bytes = bytes - OLD.bytes;
    DELETE FROM tag WHERE key = OLD.key;
END;
