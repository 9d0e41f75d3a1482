// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {StdInvariant} from "forge-std/StdInvariant.sol";
import {AddressRegistry} from "../../src/AddressRegistry.sol";
import {MerchantRegistry} from "../../src/MerchantRegistry.sol";
import {ReviewRegistry} from "../../src/ReviewRegistry.sol";
import {ICommissionEscrowErrors} from "../../src/interfaces/ICommissionEscrowErrors.sol";
import {ISplitRouterErrors} from "../../src/interfaces/ISplitRouterErrors.sol";
import {Cheats} from "../base/Cheats.sol";
import {Books} from "./Books.sol";
import {Handlers} from "./Handlers.sol";

/// @dev In this file because the runner knows only the contracts of test files.
contract MarketHandler is Handlers {}

/// @notice What is true of the market whatever anybody does, in any order.
///
/// 1. Escrow: its balance is what it owes (open escrows, fees, claims) plus what was given to it, to the unit; each of the three sums is
///    the sum of its parts.
/// 2. Router: its balance is what can be claimed there plus the payments that arrived without being split (front-run, plain transfers,
///    donations), to the unit; these always cover every payment that is still to be split or given back.
/// 3. The parts of every purchase are those of the written rules and add up to its price: everybody's balance and claims are what the
///    rules give them, and all balances together are all money ever minted.
/// 4. Nothing is paid twice: a payment leads to one escrow or back to its payer, also when it was front-run, signed as both kinds or put
///    into a batch with itself; a cancelled one leads to none. Seen in the logs, not in the books.
///    The same holds for escrows that the oracle settles or releases in a batch: each alone, once, whatever else is in it.
/// 5. Settled is final: an escrow never goes back, its terms never change but by a bind, ids count up by one.
/// 6. Nobody without a role moves another's money: attackers call everything there is with their own and with replayed arguments. Every
///    call that succeeds against expectation, or fails against it, is a surprise; there are none.
/// 7. A pause stops deposits, binds, releases, settlements and the taking back of payments; claims still work. (Expectations of every
///    action take the pause into account.) The fallback needs its whole delay after the window's end and after the end of the last pause.
/// 8. No product is sold below its least price, by whatever way the payment came.
/// 9. Without a settler nobody buys in the name of an agent that is neither its own nor has it as its wallet.
/// 10. A merchant sells, pays and has signers only as its present owner set it; the first thing an owner does, whatever it is, closes
///     what another ran. An owner who gets it back untouched finds it as it was.
/// 11. A purchase can be reviewed once, by the owner of the agent that bought, on the escrow in which it lies, also when that escrow has
///     been replaced; no other contract stands in for it.
/// 12. An identity registry that stops telling wallets locks no money and sends it to nobody else: nobody buys, and what an agent is
///     due waits for it. What waits is part of what the escrow owes, to the unit.
/// 13. At the end everybody can be paid: with all obstacles lifted, nothing is left but what was given away.
///
/// `Books` keeps the second set of books and the checks, `Actors` has the people, `Surroundings` time, merchants and the token's issuer,
/// `Trade` the purchases, `Handlers` the escrows and the attackers.
contract MarketInvariants is StdInvariant, Cheats {
    MarketHandler private handler;
    bytes4[] private selectors;

    function setUp() public {
        handler = new MarketHandler();
        handler.setUp();
        selectors = [
            handler.settleOne.selector,
            handler.settleCommitted.selector,
            handler.settleAgain.selector,
            handler.settleBatch.selector,
            handler.frontRun.selector,
            handler.cancel.selector,
            handler.signBothKinds.selector,
            handler.finish.selector,
            handler.takeBackOf.selector,
            handler.deposit.selector,
            handler.splitDeposit.selector,
            handler.takeBackDepositOf.selector,
            handler.bind.selector,
            handler.releaseCashback.selector,
            handler.oracleSettle.selector,
            handler.releaseBatch.selector,
            handler.oracleSettleBatch.selector,
            handler.settleFallback.selector,
            handler.loseWallets.selector,
            handler.pauseForLong.selector,
            handler.tamper.selector,
            handler.publish.selector,
            handler.collectFees.selector,
            handler.claim.selector,
            handler.claimForAgent.selector,
            handler.donate.selector,
            handler.buyAsAttacker.selector,
            handler.buyInAnothersName.selector,
            handler.attackRouter.selector,
            handler.attackTheRest.selector,
            handler.passTime.selector,
            handler.blockOrUnblock.selector,
            handler.pauseEscrow.selector,
            handler.pauseToken.selector,
            handler.replaceEscrow.selector,
            handler.runMerchant.selector,
            handler.sellAndBuyBack.selector,
            handler.moveAgent.selector
        ];
        targetContract(address(handler));
        targetSelector(FuzzSelector(address(handler), selectors));
    }

    function invariant_theBooksBalance() public view {
        _check();
    }

    function afterInvariant() public {
        handler.windDown();
        _check();
    }

    /// @dev A campaign in which nothing ever succeeds proves nothing: a long fixed one must see every action succeed, and everything
    /// that moves money be refused at times.
    function test_everyActionIsSeenToSucceedAndToBeRefused() public {
        for (uint256 i = 0; i < 1_600; ++i) {
            uint256 seed = uint256(keccak256(abi.encode(i)));
            (bool ok,) = address(handler).call(abi.encodeWithSelector(selectors[seed % selectors.length], seed));
            assertTrue(ok, string.concat("step ", vm.toString(i), " reverted"));
            if (i % 100 == 0) _check();
        }
        handler.windDown();
        _check();
        for (uint256 i = 0; i < uint256(Books.Action.Attack); ++i) {
            assertGt(handler.successes(i), 0, string.concat("never succeeded: action ", vm.toString(i)));
        }
        Books.Action[15] memory guarded = [
            Books.Action.Settle,
            Books.Action.SettleCommitted,
            Books.Action.SettleInBatch,
            Books.Action.Finish,
            Books.Action.TakeBack,
            Books.Action.SplitDeposit,
            Books.Action.TakeBackDeposit,
            Books.Action.Bind,
            Books.Action.ReleaseCashback,
            Books.Action.OracleSettle,
            Books.Action.ReleaseInBatch,
            Books.Action.OracleSettleInBatch,
            Books.Action.Fallback,
            Books.Action.ClaimForAgent,
            Books.Action.Attack
        ];
        for (uint256 i = 0; i < guarded.length; ++i) {
            uint256 action = uint256(guarded[i]);
            assertGt(handler.refusals(action), 0, string.concat("never refused: action ", vm.toString(action)));
        }
        bytes4[14] memory reasons = [
            ISplitRouterErrors.PriceTooLow.selector,
            ISplitRouterErrors.NotTheBuyersAgent.selector,
            ISplitRouterErrors.SelfReferral.selector,
            ISplitRouterErrors.RegistryUnreadable.selector,
            Pausable.EnforcedPause.selector,
            ICommissionEscrowErrors.FallbackTooEarly.selector,
            ICommissionEscrowErrors.NotBound.selector,
            ICommissionEscrowErrors.TermsMismatch.selector,
            ICommissionEscrowErrors.AlreadySettled.selector,
            ICommissionEscrowErrors.OnlySelf.selector,
            ICommissionEscrowErrors.AgentNotPayable.selector,
            MerchantRegistry.MerchantNotActive.selector,
            ReviewRegistry.UnknownEscrow.selector,
            AddressRegistry.OwnerRequired.selector
        ];
        for (uint256 i = 0; i < reasons.length; ++i) {
            assertGt(handler.refusedFor(reasons[i]), 0, string.concat("never the reason: ", vm.toString(i)));
        }
    }

    function _check() private view {
        handler.checkSurprises();
        handler.checkEscrow();
        handler.checkRouter();
        handler.checkWealth();
        handler.checkRecords();
        handler.checkMerchants();
    }
}
