// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Tells what calls of an account would do
/// @notice Never deployed: `eth_call` puts this code at the account's address by a state override, so that the calls come from that
/// account. Has neither storage nor immutables, which such an override would not bring along.
contract SettlementProbe {
    /// @param gas The most it may burn; 0 is all there is
    struct Call {
        address target;
        uint256 gas;
        bytes data;
    }

    /// @param gasUsed Before refunds, which are no help against a gas limit
    /// @param data What it returned or reverted with, cut after `MAX_DATA` bytes
    struct Outcome {
        bool ok;
        uint256 gasUsed;
        bytes data;
    }

    /// @notice Without a bound, a call could make the caller pay for the memory of a long answer.
    uint256 public constant MAX_DATA = 4_096;

    /// @dev What stands between the check of the gas and the callee: opcodes, and an account that is touched for the first time.
    uint256 private constant CALL_OVERHEAD = 5_000;

    error Undone(Outcome[] outcomes);
    error NotEnoughGas(uint256 available, uint256 needed);

    /// @notice Makes the calls one after the other, each seeing what those before it did.
    function together(Call[] calldata calls)
        external
        returns (uint256 timestamp, uint256 number, Outcome[] memory outcomes)
    {
        return (block.timestamp, block.number, _run(calls));
    }

    /// @notice Makes the calls of each group together, and undoes a group before the next.
    function apart(Call[][] calldata groups)
        external
        returns (uint256 timestamp, uint256 number, Outcome[][] memory outcomes)
    {
        outcomes = new Outcome[][](groups.length);
        for (uint256 i = 0; i < groups.length; ++i) {
            try this.undo(groups[i]) {}
            catch (bytes memory reason) {
                outcomes[i] = _decodeUndone(reason);
            }
        }
        return (block.timestamp, block.number, outcomes);
    }

    /// @notice Makes the calls of a group and always reverts, with their outcomes.
    function undo(Call[] calldata calls) external {
        revert Undone(_run(calls));
    }

    function _run(Call[] calldata calls) private returns (Outcome[] memory outcomes) {
        outcomes = new Outcome[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            outcomes[i] = _make(calls[i]);
        }
    }

    function _make(Call calldata call) private returns (Outcome memory outcome) {
        address target = call.target;
        uint256 allowed = call.gas;
        bytes memory input = call.data;
        if (allowed == 0) {
            allowed = type(uint256).max;
        } else {
            // The EVM silently gives less than is asked for where a 64th would not remain, and a good call would look bad.
            uint256 needed = allowed + allowed / 63 + CALL_OVERHEAD;
            if (gasleft() < needed) revert NotEnoughGas(gasleft(), needed);
        }
        bool ok;
        uint256 size;
        uint256 gasBefore = gasleft();
        assembly ("memory-safe") {
            ok := call(allowed, target, 0, add(input, 0x20), mload(input), 0, 0)
            size := returndatasize()
        }
        uint256 gasUsed = gasBefore - gasleft();
        if (size > MAX_DATA) size = MAX_DATA;
        bytes memory data = new bytes(size);
        assembly ("memory-safe") {
            returndatacopy(add(data, 0x20), 0, size)
        }
        return Outcome(ok, gasUsed, data);
    }

    /// @dev Whatever else a group ended with, say `NotEnoughGas`, is passed on.
    function _decodeUndone(bytes memory reason) private pure returns (Outcome[] memory) {
        if (bytes4(reason) != Undone.selector) {
            assembly ("memory-safe") {
                revert(add(reason, 0x20), mload(reason))
            }
        }
        assembly ("memory-safe") {
            let length := sub(mload(reason), 4)
            reason := add(reason, 4)
            mstore(reason, length)
        }
        return abi.decode(reason, (Outcome[]));
    }
}
